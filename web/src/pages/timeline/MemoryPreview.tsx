// The chosen memory beside the list: what it says, and the way to everything about it.
import { Button, Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconArrowRight, IconListSearch } from '@tabler/icons-react';
import { memo, useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { ProvenanceDrawer } from '@/parts/ProvenanceDrawer';
import { Ref } from '@/parts/Ref';
import { TimeText } from '@/parts/TimeText';
import { ForgetDialog } from './ForgetDialog';
import type { TimelineKind } from './filters';
import { KindMark } from './KindMark';
import { MemoryText } from './MemoryText';
import { memoryText, type Row } from './queries';
import { TextLink } from '@/parts/TextLink';
import { useDropped } from './useDropped';
import classes from './Timeline.module.css';

type Props = {
  row: Row | null;
  onOpen: (row: Row) => unknown;
  onForgotten: (row: Row) => void;
  /** From a result of a search to its place in the list. */
  onPlace?: (() => void) | undefined;
};

export function MemoryPreview({ row, ...rest }: Props) {
  const { t } = useTranslation('timeline');
  // The step in the list is shown first, what it leads to just after.
  const shown = useDeferredValue(row);
  if (shown) return <Chosen row={shown} {...rest} />;
  return (
    <Panel label={t('list.preview')}>
      <Empty title={t('list.choose')} why={t('list.chooseHow')} />
    </Panel>
  );
}

const Chosen = memo(function Chosen({ row, onOpen, onForgotten, onPlace }: Props & { row: Row }) {
  const { t } = useTranslation(['timeline', 'common']);
  const [asked, setAsked] = useState<{ for: 'provenance' | 'forget'; row: Row } | null>(null);
  const drop = useDropped();
  const kind = row.kind as TimelineKind;
  const text = useQuery({
    queryKey: ['timeline', 'memory', 'text', kind, row.seq],
    queryFn: ({ signal }) => memoryText(kind, row.seq, signal),
  });
  return (
    <Panel
      label={t('list.preview')}
      state={text}
      className={classes['preview'] ?? ''}
      actions={
        <>
          {onPlace && (
            <Button variant="default" leftSection={<IconListSearch size={14} />} onClick={onPlace}>
              {t('list.inTimeline')}
            </Button>
          )}
          <Button variant="default" onClick={() => setAsked({ for: 'provenance', row })}>
            {t('common:provenance.open')}
          </Button>
          <Button variant="default" onClick={() => setAsked({ for: 'forget', row })}>
            {t('forget.open')}
          </Button>
          <Button variant="default" rightSection={<IconArrowRight size={14} />} onClick={() => onOpen(row)}>
            {t('list.open')}
          </Button>
        </>
      }
    >
      {(whole) => (
        <>
          <Title order={2} className={classes['previewTitle']} dir="auto">
            {row.kind === 'prompt'
              ? t('numbered', { kind: t('kind.prompt'), ref: row.ref })
              : row.title || t('list.noTitle')}
          </Title>
          <Group gap="sm" className={classes['facets']}>
            <Ref reference={row.ref} />
            <KindMark kind={row.kind} type={row.type} />
            <TimeText at={row.created_ms} />
            {row.session !== null && (
              <TextLink to={`/ui/sessions/${row.session}?sel=m${row.seq}`}>
                {t('list.session', { number: row.session })}
              </TextLink>
            )}
            <span>{row.project}</span>
          </Group>
          <MemoryText text={whole} />
          {asked?.row === row && (
            <>
              <ProvenanceDrawer
                reference={asked.for === 'provenance' ? row.ref : null}
                onClose={() => setAsked(null)}
              />
              <ForgetDialog
                opened={asked.for === 'forget'}
                onClose={() => setAsked(null)}
                what={{ ids: [row.seq] }}
                name={row.ref}
                onForgotten={() => {
                  drop([row.seq]);
                  onForgotten(row);
                }}
              />
            </>
          )}
        </>
      )}
    </Panel>
  );
});
