// Markdown that nobody has vetted: a list of allowed elements, no raw HTML, no pictures, links that lead away say so.
import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { SHOWN, TextBlock } from './TextBlock';

const Drawing = lazy(() => import('./MarkdownDrawing').then((module) => ({ default: module.MarkdownDrawing })));

export function Markdown({ text }: { text: string }) {
  // Long text is shown as text: laying it out would hold up the page.
  if (text.length > SHOWN) return <TextBlock text={text} name="text.md" />;
  return (
    <Suspense fallback={<Skeleton h={60} />}>
      <Drawing text={text} />
    </Suspense>
  );
}
