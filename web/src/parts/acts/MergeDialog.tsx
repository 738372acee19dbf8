// Several memories become one: which of them stays, and what it says afterwards.
import '@mantine/core/styles/Radio.layer.css';
import { Radio, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { memoryQuery, type Living } from '@/api/life';
import { ConfirmDialog } from '../ConfirmDialog';
import { Content } from '../MemoryText';
import { submitOnCtrlEnter } from './EditDialog';
import { MemoryPicker } from './MemoryPicker';
import type { Perform } from './useActs';
import classes from './Acts.module.css';

type Props = {
  memories: readonly Living[];
  onClose: () => void;
  perform: Perform;
  /** Kept unless a person says otherwise, and with its own text; else the newest, whose text may be changed. */
  keeping?: number | undefined;
};

const SIDE_BY_SIDE = 4; // memories whose texts are shown

export function MergeDialog({ memories, onClose, perform, keeping }: Props) {
  const { t } = useTranslation('life');
  const [other, setOther] = useState<Living | null>(null);
  const all = other ? [...memories, other] : memories;
  // The newest knows best, unless a person says otherwise.
  const newest = all.reduce((best, each) => (each.seq > best.seq ? each : best), all[0] as Living);
  const [chosen, setChosen] = useState(keeping ?? null);
  const stays = all.find(({ seq }) => seq === chosen) ?? newest;
  const [typed, setTyped] = useState<{ of: number; text: string } | null>(null);
  const said = useQuery({ ...memoryQuery(stays.ref), gcTime: 0 }).data?.content;
  const text = typed?.of === stays.seq ? typed.text : (said ?? '');
  const [first] = memories;
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('merge.title')}
      action={t('merge.action')}
      danger={false}
      size="xl"
      ready={all.length > 1 && said !== undefined && text.trim() !== ''}
      onConfirm={() =>
        perform({ act: 'merge', into: stays.seq, ...(text !== said ? { text } : {}) }, [
          stays,
          ...all.filter((each) => each !== stays),
        ])
      }
      impact={
        <Stack gap="sm">
          {memories.length === 1 && first && (
            <MemoryPicker
              label={t('merge.with')}
              except={[first.seq]}
              within={{ kind: first.kind, project: first.project }}
              value={other}
              onChange={setOther}
            />
          )}
          {all.length > 1 && (
            <>
              <Radio.Group
                label={t('merge.stays')}
                value={String(stays.seq)}
                onChange={(seq) => setChosen(Number(seq))}
              >
                <div className={classes['choices']} tabIndex={0}>
                  {all.map((each) => (
                    <Choice key={each.seq} memory={each} whole={all.length <= SIDE_BY_SIDE} />
                  ))}
                </div>
              </Radio.Group>
              {keeping === undefined && (
                <Textarea
                  label={t('merge.text')}
                  value={text}
                  onChange={(event) => setTyped({ of: stays.seq, text: event.currentTarget.value })}
                  onKeyDown={submitOnCtrlEnter}
                  autosize
                  minRows={3}
                  maxRows={12}
                />
              )}
            </>
          )}
          <Text size="sm">{t(stays.kind === 'qa' ? 'merge.impactQa' : 'merge.impact')}</Text>
        </Stack>
      }
    />
  );
}

/** One that may stay, with what it says. */
function Choice({ memory, whole }: { memory: Living; whole: boolean }) {
  const said = useQuery({ ...memoryQuery(memory.ref), enabled: whole }).data?.content;
  return (
    <div className={classes['choice']}>
      <Radio value={String(memory.seq)} label={memory.title || memory.ref} description={memory.ref} />
      {said && <Content kind={memory.kind} text={said} />}
    </div>
  );
}
