// The drawing of a difference: lines by the diff library, changed words inside them marked.
import { createTwoFilesPatch } from 'diff';
import { useMemo } from 'react';
import { Decoration, Diff, Hunk, markEdits, parseDiff, tokenize } from 'react-diff-view';
import 'react-diff-view/style/index.css';
import './DiffDrawing.css';

type Props = { before: string; after: string; mode: 'split' | 'unified'; label: string };

const CONTEXT = 4; // lines around a change
const MARKED = 200_000; // characters up to which changed words are looked for

export function DiffDrawing({ before, after, mode, label }: Props) {
  const file = useMemo(() => {
    // The parser wants git's header line in place of the separator that the patch begins with.
    const patch = createTwoFilesPatch('a/text', 'b/text', ended(before), ended(after), '', '', { context: CONTEXT });
    return parseDiff(`diff --git a/text b/text\n${patch.split('\n').slice(1).join('\n')}`)[0];
  }, [before, after]);
  const tokens = useMemo(() => {
    if (!file || before.length + after.length > MARKED) return undefined;
    return tokenize(file.hunks, { enhancers: [markEdits(file.hunks, { type: 'block' })] });
  }, [file, before, after]);
  if (!file) return null;
  return (
    <div tabIndex={0} role="region" aria-label={label} className="cm-diff">
      <Diff viewType={mode} diffType="modify" hunks={file.hunks} tokens={tokens ?? null}>
        {(hunks) =>
          hunks.flatMap((hunk, index) => [
            ...(index
              ? [
                  <Decoration key={`gap ${hunk.content}`}>
                    <span className="cm-diff-gap">{hunk.content}</span>
                  </Decoration>,
                ]
              : []),
            <Hunk key={hunk.content} hunk={hunk} />,
          ])
        }
      </Diff>
    </div>
  );
}

/** A text that ends with a line; whether the last line is ended is no difference that anybody looks for. */
function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
