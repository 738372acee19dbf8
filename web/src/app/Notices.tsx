// Where notices appear; loaded with the first of them.
import { lazy, Suspense, useSyncExternalStore, type ComponentType } from 'react';
import { noticesWanted, onNotices } from '@/parts/undoable';

// Without the server the file does not come; a notice less is better than no page.
const Shown = lazy(() =>
  import('./NoticesShown').then<{ default: ComponentType }, { default: ComponentType }>(
    (module) => ({ default: module.NoticesShown }),
    () => ({ default: () => null }),
  ),
);

export function Notices() {
  const wanted = useSyncExternalStore(onNotices, noticesWanted);
  return <Suspense>{wanted && <Shown />}</Suspense>;
}
