// Merging two items: with which, and whose answer stays. Shows both before anything happens.
import { Radio, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/parts/ConfirmDialog';
import { shortId } from './besides';
import { Side } from './Neighbour';
import compared from './Compare.module.css';
import classes from './Qa.module.css';
import type { QaDetail, QaItem } from './queries';

type Props = {
  item: QaDetail;
  near: readonly QaItem[];
  chosen: string;
  onChoose: (id: string) => void;
  onClose: () => void;
  onMerge: (from: QaItem, into: QaItem) => void;
};

export function MergeDialog({ item, near, chosen, onChoose, onClose, onMerge }: Props) {
  const { t } = useTranslation('qa');
  const other = near.find(({ qa_id }) => qa_id === chosen);
  // What is proven stays unless a person says otherwise.
  const [stays, setStays] = useState<'this' | 'other'>(item.status === 'validated' ? 'this' : 'other');
  if (!other) return null;
  const [from, into] = stays === 'this' ? [other, item] : [item, other];
  const questions = [...new Set([into.question, ...into.phrasings, from.question, ...from.phrasings])];
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('merge.title')}
      action={t('merge.action')}
      danger={false}
      size="xl"
      onConfirm={async () => onMerge(from, into)}
      impact={
        <Stack gap="md">
          {near.length > 1 && (
            <Select
              label={t('merge.with')}
              value={chosen}
              onChange={(value) => value && onChoose(value)}
              allowDeselect={false}
              data={near.map(({ qa_id, question }) => ({ value: qa_id, label: question }))}
            />
          )}
          <Radio.Group label={t('merge.stays')} value={stays} onChange={(value) => setStays(value as typeof stays)}>
            <div className={compared['sides']}>
              <Side name={t('near.this')} item={item}>
                <Radio value="this" label={t('merge.keepThis')} mb="sm" />
              </Side>
              <Side name={shortId(other.qa_id)} item={other}>
                <Radio value="other" label={t('merge.keepOther')} mb="sm" />
              </Side>
            </div>
          </Radio.Group>
          <section className={classes['part']}>
            <h3>{t('merge.found')}</h3>
            <ul className={classes['wordings']}>
              {questions.map((question) => (
                <li key={question} dir="auto">
                  {question}
                </li>
              ))}
            </ul>
          </section>
          <Text size="sm">{t('merge.impact')}</Text>
        </Stack>
      }
    />
  );
}
