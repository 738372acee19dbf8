// Markdown that nobody has vetted: a list of allowed elements, no raw HTML, no pictures, links that lead away say so.
import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { SHOWN, shortened, TextBlock } from './TextBlock';

const Drawing = lazy(() => import('./MarkdownDrawing').then((module) => ({ default: module.MarkdownDrawing })));

export function Markdown({ text }: { text: string }) {
  const long = text.length > SHOWN;
  const drawn = (
    <Suspense fallback={<Skeleton h={60} />}>
      <Drawing text={long ? `${shortened(text)}…` : text} />
    </Suspense>
  );
  // All of a long text is shown as text: laying it out would hold up the page.
  return long ? <TextBlock text={text} name="text.md" beginning={drawn} /> : drawn;
}
