import { throttleWaitsMs, windowWaitsMs } from '@onecode/domain';

describe('the waits of what is throttled', () => {
  it('double with each refusal, up to ten seconds', () => {
    expect(throttleWaitsMs(null, 0)).toEqual([2_000, 4_000, 8_000, 10_000]);
  });

  it('are 4^n seconds for one sender and one recipient', () => {
    expect(windowWaitsMs(null, 0)).toEqual([4_000, 16_000, 64_000, 256_000]);
  });

  it('are up to half as long again by chance', () => {
    expect(throttleWaitsMs(null, 0.5)[0]).toBe(2_500);
    expect(windowWaitsMs(null, 1 - Number.EPSILON)[0]).toBe(6_000);
  });

  it('are never shorter than what the provider asks for, and never longer than fifteen minutes', () => {
    expect(throttleWaitsMs(10, 0.9)).toEqual([10_000, 10_000, 11_600, 14_500]);
    expect(windowWaitsMs(86_400, 0)).toEqual([900_000, 900_000, 900_000, 900_000]);
  });
});
