/** Google's own limit for arguments and results is near. */
export const jsonDepthMax = 64;
