// Every write of a memory, newest first, where it was written more than once or together with others.
import { Button, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import type en from '@/i18n/en/timeline';
import { localeTag } from '@/i18n';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import type { Provenance } from './queries';
import { UndoDialog } from './UndoDialog';
import classes from './Observation.module.css';

export function MemoryVersions({ from }: { from: Provenance }) {
  const { t } = useTranslation('timeline');
  const [undone, setUndone] = useState<string | null>(null);
  const reverted = new Set(from.deltas.filter((delta) => delta.status === 'reverted').map((delta) => delta.id));
  if (from.versions.length < 2 && !from.deltas.length) return null;
  return (
    <Panel title={t('versions.title')} flush>
      <div className={classes['scroll']} tabIndex={0} role="region" aria-label={t('versions.title')}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('versions.version')}</Table.Th>
              <Table.Th>{t('versions.op')}</Table.Th>
              <Table.Th>{t('versions.changed')}</Table.Th>
              <Table.Th>{t('versions.by')}</Table.Th>
              <Table.Th>{t('versions.when')}</Table.Th>
              <Table.Th aria-label={t('versions.undo')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {from.versions.map((version) => (
              <Table.Tr key={version.version}>
                <Table.Td>{version.version}</Table.Td>
                <Table.Td>
                  {t(`versions.ops.${version.op as keyof typeof en.versions.ops}`)}
                  {version.note && (
                    <Text size="xs" c="dimmed">
                      {version.note}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <Changed version={version} />
                </Table.Td>
                <Table.Td>{version.actor}</Table.Td>
                <Table.Td>
                  <TimeText at={version.created_ms} />
                </Table.Td>
                <Table.Td ta="end">
                  {version.delta && !reverted.has(version.delta) && (
                    <Button variant="default" onClick={() => setUndone(version.delta)}>
                      {t('versions.undo')}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {from.more_versions && (
        <Text size="xs" c="dimmed" p="sm">
          {t('versions.more')}
        </Text>
      )}
      <UndoDialog
        opened={undone !== null}
        onClose={() => setUndone(null)}
        whose={{ delta: undone ?? '' }}
        title={t('undo.change')}
      />
    </Panel>
  );
}

function Changed({ version }: { version: Schemas['VersionOf'] }) {
  const { t, i18n } = useTranslation('timeline');
  const names = version.changed.map((field) =>
    i18n.exists(`timeline:versions.fields.${field}`)
      ? t(`versions.fields.${field as keyof typeof en.versions.fields}`)
      : field,
  );
  return new Intl.ListFormat(localeTag(i18n.language), { type: 'unit' }).format(names);
}
