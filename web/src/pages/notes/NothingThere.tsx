// An address at which nothing stands: why that may be, and how to write something there.
import { Button, Group } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Empty, Panel } from '@/parts/Panel';
import { NewNoteDialog } from './NewNoteDialog';

export function NothingThere({ uri }: { uri: string }) {
  const { t } = useTranslation('notes');
  const [writing, setWriting] = useState(false);
  return (
    <Panel label={t('memory')}>
      <Empty title={t('nothing.title')} why={t('nothing.why')} command={`codexmem memory create ${uri} "…"`} />
      <Group justify="center" pb="lg">
        <Button leftSection={<IconPlus size={14} />} onClick={() => setWriting(true)}>
          {t('nothing.write')}
        </Button>
      </Group>
      <NewNoteDialog opened={writing} suggested={uri} onClose={() => setWriting(false)} />
    </Panel>
  );
}
