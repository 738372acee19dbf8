// Where notices appear; loaded with the first of them.
import { lazy, Suspense, useSyncExternalStore } from 'react';
import { noticesWanted, onNotices } from '@/parts/undoable';

const Shown = lazy(() => import('./NoticesShown').then((module) => ({ default: module.NoticesShown })));

export function Notices() {
  const wanted = useSyncExternalStore(onNotices, noticesWanted);
  return <Suspense>{wanted && <Shown />}</Suspense>;
}
