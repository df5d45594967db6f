/** Milliseconds on the machine's monotonic clock, which all of its processes share. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;
