/**
 * Runs before each test file. ava enables source maps, which makes Node search every module and stack trace, a
 * thirtieth of the suite's time. Type stripping keeps line numbers, so no map is needed.
 */
process.setSourceMapsEnabled(false);
