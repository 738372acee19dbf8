// The dialog of an act that asks something first. It comes with its texts when the first one is opened.
import { lazy, Suspense } from 'react';
import { allTexts } from '@/i18n';
import type { Props } from './AskingDialog';

const AskingDialog = lazy(async () => {
  const [module] = await Promise.all([import('./AskingDialog'), allTexts()]);
  return { default: module.AskingDialog };
});

export function ActDialog(props: Props) {
  return (
    <Suspense fallback={null}>
      <AskingDialog {...props} />
    </Suspense>
  );
}
