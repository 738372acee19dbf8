import { expect, test } from 'vitest';
import { durationText, tookMs } from '@/parts/duration';
import { shownStatus } from '@/api/lab';

test('a duration is told in the unit that a person would choose', () => {
  const told = [0, 820, 4_240, 41_000, 59_700, 185_000, 3_600_000, 7_800_000].map((ms) => durationText(ms, 'en'));
  expect(told).toEqual(['0ms', '820ms', '4.2s', '41s', '1m', '3m 5s', '1h', '2h 10m']);
  expect(durationText(185_000, 'zh')).toBe('3分钟 5秒');
});

test('what runs has taken time until now, what waits none', () => {
  expect(tookMs({ started_at: 10, ended_at: null }, 12)).toBe(2_000);
  expect(tookMs({ started_at: 10, ended_at: 11 }, 99)).toBe(1_000);
  expect(tookMs({ started_at: null, ended_at: null }, 99)).toBeNull();
});

test('a cancel is only requested until the thing has ended', () => {
  expect(shownStatus({ status: 'running', cancel_id: 'cancel_1' })).toBe('canceling');
  expect(shownStatus({ status: 'canceled', cancel_id: 'cancel_1' })).toBe('canceled');
  expect(shownStatus({ status: 'queued', cancel_id: null })).toBe('queued');
});
