import { describe, expect, it } from 'vitest';
import { dayBegins, dayEnds, freshOf, type AuditFilter, type AuditItem } from './queries';

describe('a day', () => {
  it('begins and ends by the clock that was chosen', () => {
    expect(dayBegins('2026-01-31', 'utc')).toBe(Date.UTC(2026, 0, 31));
    expect(dayEnds('2026-01-31', 'utc')).toBe(Date.UTC(2026, 1, 1) - 1);
    expect(dayBegins('2026-01-31', 'local')).toBe(new Date(2026, 0, 31).getTime());
    expect(dayEnds('2026-12-31', 'local')).toBe(new Date(2027, 0, 1).getTime() - 1);
  });

  it('is nothing where no day was written', () => {
    expect([dayBegins('', 'utc'), dayEnds('31.1.2026', 'utc'), dayBegins('1960-01-01', 'utc')]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('rows that arrived meanwhile', () => {
  const none: AuditFilter = { tool: '', decision: '', kind: '', chain: '', project: '', from: '', to: '' };
  const row = (seq: number, tool: string): AuditItem => ({
    id: `e${seq}`,
    received_at_ms: 1_000 + seq,
    log: 'l',
    chain: 'follows',
    actor: 'local',
    seq,
    prev: '',
    hash: '',
    kind: 'request',
    tool,
  });
  const newest = [row(4, 'Bash'), row(3, 'Write'), row(2, 'Bash'), row(1, 'Bash')];

  it('are those before the first that is shown', () => {
    expect(freshOf(newest, none, [row(2, 'Bash'), row(1, 'Bash')])).toBe(2);
    expect(freshOf(newest, none, newest)).toBe(0);
    expect(freshOf(newest, none, [])).toBe(4);
  });

  it('belong into the list', () => {
    expect(freshOf(newest, { ...none, tool: 'bash' }, [row(2, 'Bash')])).toBe(1);
    expect(freshOf(newest, { ...none, tool: 'bash', decision: 'deny' }, [])).toBe(0);
  });

  it('are all of them where what is shown is older', () => {
    expect(freshOf(newest, none, [row(0, 'Bash')])).toBe(4);
  });
});
