import { expect, test } from 'vitest';
import { tookMs } from '@/api/lab';
import { shownStatus } from '@/api/lab';

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
