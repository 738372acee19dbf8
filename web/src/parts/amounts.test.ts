// Amounts are said in the unit that fits.
import { describe, expect, it } from 'vitest';
import { bytesText, durationText } from './amounts';

describe('bytes', () => {
  it.each([
    [0, '0 byte'],
    [999, '999 byte'],
    [1_000, '1 kB'],
    [82_400, '82 kB'],
    [1_440_000, '1.4 MB'],
    [2e13, '20 TB'],
  ])('%d', (bytes, said) => expect(bytesText(bytes, 'en')).toBe(said));
  it('in Chinese', () => expect(bytesText(1_440_000, 'zh')).toMatch(/^1\.4\s*(MB|兆字节)$/));
});

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [3.24, '3.2 ms'],
    [352.5, '353 ms'],
    [999.9, '1 sec'],
    [4_240, '4.2 sec'],
    [9_960, '10 sec'],
    [59_900, '1 min'],
    [60_000, '1 min'],
    [185_000, '3 min 5 sec'],
    [3_725_000, '1 hr 2 min'],
    [93_600_000, '1 day 2 hr'],
    [86_405_000, '1 day'],
  ])('%d', (ms, said) => expect(durationText(ms, 'en')).toBe(said));
  it('in Chinese', () => expect(durationText(352, 'zh')).toBe('352 毫秒'));
});
