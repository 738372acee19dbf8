// Amounts are said in the unit that fits.
import { describe, expect, it } from 'vitest';
import { bytesText, spanText } from './amounts';

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

describe('spans', () => {
  it.each([
    [0, '0 sec'],
    [59.9, '59 sec'],
    [60, '1 min'],
    [3_725, '1 hr 2 min'],
    [93_600, '1 day 2 hr'],
    [86_405, '1 day'],
  ])('%d', (seconds, said) => expect(spanText(seconds, 'en')).toBe(said));
});
