/**
 * Runs before each file of tests. ava asks Node for source maps, which then reads through every module for one, and looks at
 * every trace of a stack: a thirtieth of the suite's time. What runs here needs none, as Node leaves lines where they are when
 * it takes the types out.
 */
process.setSourceMapsEnabled(false);
