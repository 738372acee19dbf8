// Times, cuts and addresses that parts decide by themselves.
import { describe, expect, it } from 'vitest';
import { plainOnly } from '@/app/trusted';
import { wanted } from '@/i18n';
import { nameFor } from '@/live/browser';
import { safeHref } from './MarkdownDrawing';
import { SHOWN, shortened } from './TextBlock';
import { exactTime, timeAgo } from './TimeText';

describe('times', () => {
  it.each([
    [0, 'now', '现在'],
    [-90_000, '1 min. ago', '1 分钟前'],
    [-7_200_000, '2 hr. ago', '2 小时前'],
    [-3 * 86_400_000, '3 days ago', '3 天前'],
  ])('%d ms ago', (past, en, zh) => {
    expect([timeAgo(1e12 + past, 1e12, 'en'), timeAgo(1e12 + past, 1e12, 'zh')]).toEqual([en, zh]);
  });

  it('are exact in the chosen clock', () => {
    expect(exactTime(Date.UTC(2026, 0, 2, 3, 4, 5), 'en', 'utc')).toBe('Jan 2, 2026, 03:04:05 UTC');
  });
});

describe('languages', () => {
  it.each([
    [null, ['fr', 'zh-TW', 'en'], 'zh'],
    [null, ['en-GB', 'zh'], 'en'],
    [null, [], 'en'],
    ['zh', ['en'], 'zh'],
  ] as const)('%s with %j', (chosen, browser, expected) => expect(wanted(chosen, browser)).toBe(expected));
});

describe('untrusted text', () => {
  it('is cut between characters', () => {
    const text = `${'x'.repeat(SHOWN - 1)}😀😀`;
    expect(shortened(text)).toBe('x'.repeat(SHOWN - 1));
  });

  it('becomes no markup', () => {
    expect(['<img>', '&lt;', 'a{color:red}'].map(plainOnly)).toEqual([null, null, 'a{color:red}']);
  });

  it.each(['javascript:alert(1)', ' javascript:x', 'data:text/html,x', 'vbscript:x', '//evil.example', 'file:///etc'])(
    'leads nowhere by %s',
    (href) => expect(safeHref(href)).toBe(''),
  );

  it('may lead to the web', () => expect(safeHref('https://example.org/a')).toBe('https://example.org/a'));
});

describe('tabs with different keys', () => {
  it('never share a stream', () => {
    expect(new Set([null, 'a', 'b', 'ab', 'ba'].map(nameFor)).size).toBe(5);
    expect(nameFor('secret')).not.toContain('secret');
  });
});
