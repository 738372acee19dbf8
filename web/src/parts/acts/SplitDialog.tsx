// One memory becomes several: each part with its own text, a question's with its own question.
import { ActionIcon, Button, Skeleton, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { memoryQuery, type Living } from '@/api/life';
import { ConfirmDialog } from '../ConfirmDialog';
import { ErrorCard } from '../ErrorCard';
import { submitOnCtrlEnter } from './EditDialog';
import { partsOf } from './parts';
import type { Perform } from './useActs';
import classes from './Acts.module.css';

type Part = { title: string; text: string };
type Props = { memory: Living; onClose: () => void; perform: Perform };

const MOST = 20;

export function SplitDialog({ memory, onClose, perform }: Props) {
  const { t } = useTranslation('life');
  const query = useQuery({ ...memoryQuery(memory.ref), gcTime: 0, refetchOnWindowFocus: false });
  const [written, setWritten] = useState<Part[] | null>(null);
  const asked = memory.kind === 'qa';
  const begun = query.data && partsOf(query.data.content).map((text) => ({ title: '', text }));
  const parts = written ?? begun ?? [];
  const change = (at: number, part: Partial<Part>) =>
    setWritten(parts.map((each, index) => (index === at ? { ...each, ...part } : each)));
  const ready = parts.length > 1 && parts.every(({ text, title }) => text.trim() && (!asked || title.trim()));
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('split.title', { what: memory.ref })}
      action={t('split.action')}
      danger={false}
      size="xl"
      ready={ready}
      onConfirm={() => {
        const cut = parts.map(({ text, title }) => ({ text, ...(title.trim() ? { title } : {}) }));
        return perform({ act: 'split', parts: cut, ...(query.data ? { seen: query.data.version } : {}) }, [memory]);
      }}
      impact={
        <Stack gap="sm">
          {query.isError && <ErrorCard error={query.error} retry={query.refetch} />}
          {!query.data && !query.isError && <Skeleton h={120} />}
          {parts.map((part, at) => (
            <div key={at} className={classes['piece']}>
              <div>
                {asked && (
                  <TextInput
                    size="sm"
                    label={t('edit.title_.qa')}
                    value={part.title}
                    onChange={(event) => change(at, { title: event.currentTarget.value })}
                  />
                )}
                <Textarea
                  label={t('split.part', { number: at + 1 })}
                  value={part.text}
                  onChange={(event) => change(at, { text: event.currentTarget.value })}
                  onKeyDown={submitOnCtrlEnter}
                  autosize
                  minRows={2}
                  maxRows={8}
                  data-autofocus={at === 0 || undefined}
                />
              </div>
              <ActionIcon
                aria-label={t('split.remove', { number: at + 1 })}
                disabled={parts.length <= 2}
                onClick={() => setWritten(parts.filter((_, index) => index !== at))}
              >
                <IconX size={14} />
              </ActionIcon>
            </div>
          ))}
          {query.data && (
            <Button
              variant="default"
              leftSection={<IconPlus size={14} />}
              disabled={parts.length >= MOST}
              onClick={() => setWritten([...parts, { title: '', text: '' }])}
            >
              {t('split.add')}
            </Button>
          )}
          <Text size="sm">{t('split.impact')}</Text>
        </Stack>
      }
    />
  );
}
