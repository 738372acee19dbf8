// A number that names a note, an answer or a lesson: each has a page of its own.
import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '@/parts/Page';
import { Empty, Panel } from '@/parts/Panel';
import { pageOf } from '@/parts/reference';
import type { MemoryKind, Provenance } from './queries';
import { TextLink } from '@/parts/TextLink';

export function MemoryElsewhere({ from: { memory } }: { from: Provenance }) {
  const { t } = useTranslation('timeline');
  const kind = t(`kind.${memory.kind as MemoryKind}`);
  const page = pageOf(memory.uris[0] ?? memory.label);
  return (
    <Page title={memory.title || t('numbered', { kind, ref: memory.label })}>
      <Panel label={kind}>
        <Empty title={t('memory.otherKind')} why={t('memory.otherKindWhy', { ref: memory.label, kind })} />
        {page && !page.startsWith('/ui/observations') && (
          <Group justify="center" pb="lg">
            <TextLink to={page}>{t('memory.openOther')}</TextLink>
          </Group>
        )}
      </Panel>
    </Page>
  );
}
