/**
 * ava enables source maps, which cost a thirtieth of the suite's time. Type stripping keeps line numbers, so the
 * tests need no source maps.
 */
process.setSourceMapsEnabled(false);
