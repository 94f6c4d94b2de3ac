/**
 * Runs before each test file. ava enables source maps, which cost a thirtieth of the suite's time: Node
 * searches every module and stack trace. Type stripping keeps line numbers, so no map is needed.
 */
process.setSourceMapsEnabled(false);
