// Where a memory comes from and what came of it, beside whatever page shows the memory.
import { Drawer } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { allTexts } from '@/i18n';

const Provenance = lazy(async () => {
  const [module] = await Promise.all([import('@/pages/memory/Provenance'), allTexts()]);
  return { default: module.Provenance };
});

type Props = { reference: string | null; onClose: () => void };

/** Open while a reference is given. */
export function ProvenanceDrawer({ reference, onClose }: Props) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const shownOn = useRef(pathname);
  // Whoever follows a link in it wants to see where that leads.
  useEffect(() => {
    if (shownOn.current === pathname) return;
    shownOn.current = pathname;
    if (reference !== null) onClose();
  }, [pathname, reference, onClose]);
  return (
    <Drawer
      opened={reference !== null}
      onClose={onClose}
      title={t('provenance.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {reference !== null && (
        <Suspense>
          <Provenance reference={reference} />
        </Suspense>
      )}
    </Drawer>
  );
}
