// How a backup is put back: three commands for a terminal, because the server must not run meanwhile.
import { Modal, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/parts/CommandLine';
import type { Backup } from './queries';
import classes from './System.module.css';

export function RestoreDialog({ backup, onClose }: { backup: Backup | null; onClose: () => void }) {
  const { t } = useTranslation(['system', 'common']);
  return (
    <Modal
      opened={backup !== null}
      onClose={onClose}
      title={t('restore.title')}
      size="xl"
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      {backup && (
        <>
          <Text size="sm" mb="lg">
            {t('restore.impact', { name: backup.name, count: backup.memories ?? 0 })}
          </Text>
          <ol className={classes['steps']}>
            <li>
              {t('restore.check')}
              <CommandLine command={backup.restore.check} />
            </li>
            <li>
              {t('restore.stop')}
              <CommandLine command={backup.restore.command} />
            </li>
            <li>
              {t('restore.start')}
              <CommandLine command={backup.restore.start} />
            </li>
          </ol>
          <Text size="sm" c="dimmed" mt="lg">
            {t('restore.safe')}
          </Text>
        </>
      )}
    </Modal>
  );
}
