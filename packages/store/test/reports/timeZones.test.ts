import { bucketStarts, UnknownTimeZone } from '../../src/reports/timeZones.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const starts = (bucket: 'hour' | 'day', timeZone: string, from: string, to: string): string[] =>
  bucketStarts(bucket, { from: new Date(from), to: new Date(to) }, timeZone).map((start) =>
    start.toISOString().replace(/:00\.000Z$/, 'Z'),
  );

/** Returns the local day of a time, computed differently from `bucketStarts`. */
function localDay(timeZone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' });
  return (time) => format.format(time);
}

const ZONES = Intl.supportedValuesOf('timeZone');

describe('bucketStarts', () => {
  it('returns the first millisecond of each day of a year, in every time zone', () => {
    const [from, to] = [new Date('2025-12-31T12:00:00Z'), new Date('2026-12-31T12:00:00Z')];
    for (const timeZone of ZONES) {
      const dayAt = localDay(timeZone);
      const days = bucketStarts('day', { from, to }, timeZone).map((start) => start.getTime());
      const between = Date.parse(dayAt(to.getTime() - 1)) - Date.parse(dayAt(from.getTime()));
      expect([timeZone, days.length]).toEqual([timeZone, between / DAY_MS + 1]);
      expect([timeZone, dayAt(days[0]!)]).toEqual([timeZone, dayAt(from.getTime())]);
      const wrong = days.filter((start) => dayAt(start) <= dayAt(start - 1)).map((start) => new Date(start));
      expect([timeZone, wrong]).toEqual([timeZone, []]);
    }
  });

  it.each([
    ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
    ['Asia/Katmandu', 'Asia/Kathmandu'],
    ['Asia/Rangoon', 'Asia/Yangon'],
    ['US/Pacific', 'America/Los_Angeles'],
    ['Brazil/East', 'America/Sao_Paulo'],
  ])('accepts the legacy name %s of %s', (legacy, modern) => {
    for (const bucket of ['hour', 'day'] as const) {
      const span = ['2026-03-05T01:10:00Z', '2026-03-10T00:00:00Z'] as const;
      expect(starts(bucket, legacy, ...span)).toEqual(starts(bucket, modern, ...span));
    }
  });

  it.each<[string, string, string, string, string[]]>([
    [
      'a day of 23 hours',
      'Europe/Berlin',
      '2026-03-28T10:00Z',
      '2026-03-30T10:00Z',
      ['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ],
    [
      'a day of 25 hours',
      'Europe/Berlin',
      '2026-10-24T10:00Z',
      '2026-10-26T10:00Z',
      ['2026-10-23T22:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    ],
    [
      'a day without a midnight',
      'America/Sao_Paulo',
      '2018-11-03T12:00Z',
      '2018-11-05T12:00Z',
      ['2018-11-03T03:00Z', '2018-11-04T03:00Z', '2018-11-05T02:00Z'],
    ],
    [
      'a day with two midnights',
      'America/Havana',
      '2025-11-01T12:00Z',
      '2025-11-03T12:00Z',
      ['2025-11-01T04:00Z', '2025-11-02T04:00Z', '2025-11-03T05:00Z'],
    ],
    [
      'days with half an hour',
      'Asia/Kolkata',
      '2026-06-01T12:00Z',
      '2026-06-02T18:31Z',
      ['2026-05-31T18:30Z', '2026-06-01T18:30Z', '2026-06-02T18:30Z'],
    ],
    [
      'a day that the zone skipped',
      'Pacific/Apia',
      '2011-12-29T12:00Z',
      '2011-12-31T12:00Z',
      ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
    ],
  ])('returns the days around %s: %s from %s to %s', (_, timeZone, from, to, expected) => {
    expect(starts('day', timeZone, from, to)).toEqual(expected);
  });

  it.each<[string, string, string, string, string[]]>([
    [
      'begin at full hours of local time',
      'Asia/Kathmandu',
      '2026-01-01T00:00Z',
      '2026-01-01T01:16Z',
      ['2025-12-31T23:15Z', '2026-01-01T00:15Z', '2026-01-01T01:15Z'],
    ],
    [
      'continue after a skipped hour',
      'Europe/Berlin',
      '2026-03-29T00:10Z',
      '2026-03-29T02:00Z',
      ['2026-03-29T00:00Z', '2026-03-29T01:00Z'],
    ],
    [
      'include a repeated hour twice',
      'Europe/Berlin',
      '2026-10-25T00:10Z',
      '2026-10-25T02:01Z',
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'],
    ],
    [
      'begin at a change of half an hour',
      'Australia/Lord_Howe',
      '2026-04-04T14:10Z',
      '2026-04-04T16:31Z',
      ['2026-04-04T14:00Z', '2026-04-04T15:00Z', '2026-04-04T15:30Z', '2026-04-04T16:30Z'],
    ],
  ])('returns hours that %s: %s from %s to %s', (_, timeZone, from, to, expected) => {
    expect(starts('hour', timeZone, from, to)).toEqual(expected);
  });

  it('starts with the bucket that contains `from`, and ends before `to`', () => {
    const span = { from: new Date('2026-01-01T03:00:00Z'), to: new Date('2026-01-02T03:00:00Z') };
    expect(bucketStarts('day', span, 'America/Sao_Paulo')).toEqual([span.from]);
    expect(bucketStarts('hour', span, 'America/Sao_Paulo')).toHaveLength(24);
    const earlier = { from: new Date(span.from.getTime() - 1), to: new Date(span.to.getTime() + 1) };
    expect(bucketStarts('day', earlier, 'America/Sao_Paulo')).toHaveLength(3);
    expect(bucketStarts('hour', earlier, 'America/Sao_Paulo')[0]!.getTime()).toBe(
      span.from.getTime() - HOUR_MS,
    );
  });

  it.each(['Mars/Olympus', '', 'Pacific-New', 'UTC+3', 'Etc/Unknown'])(
    'throws UnknownTimeZone for %j',
    (timeZone) => {
      expect(() => starts('day', timeZone, '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toThrow(
        UnknownTimeZone,
      );
    },
  );
});
