// Asks for an API key where the server wants one; nothing else is shown until it is given.
import { lazy, Suspense, type ReactNode } from 'react';
import { useKeyAsked } from '@/api/keys';

const KeyForm = lazy(() => import('./KeyForm').then((module) => ({ default: module.KeyForm })));

export function KeyGate({ children }: { children: ReactNode }) {
  if (!useKeyAsked()) return children;
  return (
    <Suspense>
      <KeyForm />
    </Suspense>
  );
}
