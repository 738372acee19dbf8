import { expect, it } from 'vitest';
import { endOf, fieldOf, momentOf, writtenOf } from './times';

it('reads every way in which a time may be written', () => {
  const at = Date.UTC(2026, 10, 15, 8, 30);
  for (const written of [
    '2026-11-15T08:30Z',
    '2026-11-15T08:30',
    '2026-11-15T09:30+01:00',
    String(at),
    String(at / 1000),
  ])
    expect(momentOf(written)).toBe(at);
  expect(momentOf('2026-11-15')).toBe(Date.UTC(2026, 10, 15));
  expect(momentOf('yesterday')).toBeNull();
  expect(momentOf('')).toBeNull();
});

it('a field and the address mean the same moment', () => {
  expect(fieldOf('2026-11-15T08:30Z', 'utc')).toBe('2026-11-15T08:30');
  expect(writtenOf('2026-11-15T08:30', 'utc')).toBe('2026-11-15T08:30Z');
  expect(writtenOf(fieldOf('2026-11-15T08:30Z', 'local'), 'local')).toBe('2026-11-15T08:30Z');
  expect(fieldOf('nonsense', 'utc')).toBe('');
  expect(writtenOf('', 'utc')).toBe('');
});

it('an end to the minute includes that minute', () => {
  expect(endOf('2026-11-15T08:30Z')).toBe('2026-11-15T08:30:59.999Z');
  expect(endOf('2026-11-15')).toBe('2026-11-15');
  expect(endOf('')).toBe('');
});
