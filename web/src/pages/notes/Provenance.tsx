// The content of the provenance drawer: where a memory of any kind comes from, who changed it, and what came of it.
// A relative can be explained in its place; the way back is kept.
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { provenanceQuery, type Provenance as Told } from './queries';
import { ProvenanceChanges } from './ProvenanceChanges';
import { ProvenanceOrigin } from './ProvenanceOrigin';
import { Relatives } from './Relatives';
import { useKindName } from './useKindName';

export function Provenance({ reference }: { reference: string }) {
  const { t } = useTranslation(['notes', 'common']);
  const [trail, setTrail] = useState<readonly string[]>([]);
  useEffect(() => setTrail([]), [reference]);
  const asked = trail.at(-1) ?? reference;
  const back = () => setTrail(trail.slice(0, -1));
  const query = useQuery(provenanceQuery(asked));
  return (
    <Stack gap="md">
      {trail.length > 0 && (
        <Group>
          <Button variant="subtle" leftSection={<IconArrowLeft size={14} />} onClick={back}>
            {t('why.back', { reference: trail.at(-2) ?? reference })}
          </Button>
        </Group>
      )}
      <Panel state={query} label={t('why.memory')}>
        {(told) => <Head told={told} />}
      </Panel>
      {query.data && <Sections told={query.data} onExplain={(label) => setTrail([...trail, label])} />}
    </Stack>
  );
}

function Head({ told: { memory } }: { told: Told }) {
  const { t } = useTranslation('notes');
  const kindName = useKindName();
  const name = memory.label.replace(/^(?:note|qa) /, '');
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Badge color="brand">{kindName(memory.kind)}</Badge>
        <StatusMark status={memory.status} />
        <Text size="sm" c="dimmed">
          {t('version', { version: memory.version })}
        </Text>
      </Group>
      {memory.title && (
        <Text size="sm" fw={600} lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
          {memory.title}
        </Text>
      )}
      <Ref reference={name} />
      <CommandLine command={`codexmem why ${quoted(name)}`} />
    </Stack>
  );
}

function Sections({ told, onExplain }: { told: Told; onExplain: (label: string) => void }) {
  const { t } = useTranslation('notes');
  return (
    <>
      <ProvenanceOrigin told={told} onExplain={onExplain} />
      <ProvenanceChanges told={told} />
      <Panel title={t('why.cameOf')} flush>
        <Relatives relatives={[...told.derived, ...told.linked_by]} none={t('why.nothingCame')} onExplain={onExplain} />
        {told.more_derived && (
          <Text size="xs" c="dimmed" p="sm">
            {t('why.moreDerived')}
          </Text>
        )}
      </Panel>
      {told.links.length > 0 && (
        <Panel title={t('why.pointsTo')} flush>
          <Relatives relatives={told.links} none="" onExplain={onExplain} />
        </Panel>
      )}
    </>
  );
}

/** As a shell takes it: # begins a comment there. */
function quoted(name: string): string {
  return /^[\w./:-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
