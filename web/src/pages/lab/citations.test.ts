import { expect, test } from 'vitest';
import { segments } from './citations';

const cited = (text: string) => segments(text).flatMap((each) => each.cites ?? []);

test('citations are what the server takes for citations', () => {
  expect(cited('Copper [C1] and 【C2，C3】 as in [mem:ab-1; C4].')).toEqual(['C1', 'C2', 'C3', 'mem:ab-1', 'C4']);
  expect(cited('C12 alone, [C1x], [see 3], xmem:1')).toEqual([]);
  expect(cited('as mem:12ab. Then（mem:77）。')).toEqual(['mem:12ab', 'mem:77']);
});

test('nothing of the text is lost', () => {
  for (const text of ['', 'plain', '[C1]', '先 [C1, mem:9] 后', '[[C1]] 【】 []', 'a [C1][C2]mem:x']) {
    expect(
      segments(text)
        .map((each) => each.text)
        .join(''),
    ).toBe(text);
  }
});
