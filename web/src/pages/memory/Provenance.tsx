// The content of the provenance drawer: where a memory of any kind comes from and what came of it. A relative can be
// explained in its place; the way back is kept.
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Kind } from '@/api/life';
import { CommandLine } from '@/parts/CommandLine';
import { Panel } from '@/parts/Panel';
import { PageLink, Ref } from '@/parts/Ref';
import { pageOf } from '@/parts/reference';
import { StatusMark } from '@/parts/StatusMark';
import { CameOf } from './LineageTab';
import { Origin } from './Origin';
import { plainLine } from '@/parts/snippet';
import { provenanceQuery, type Provenance as Told } from './queries';

export function Provenance({ reference }: { reference: string }) {
  const { t } = useTranslation('memory');
  const [trail, setTrail] = useState<readonly string[]>([]);
  useEffect(() => setTrail([]), [reference]);
  const query = useQuery(provenanceQuery(trail.at(-1) ?? reference));
  const explain = (label: string) => setTrail([...trail, label]);
  return (
    <Stack gap="md">
      {trail.length > 0 && (
        <Group>
          <Button
            variant="subtle"
            leftSection={<IconArrowLeft size={14} />}
            onClick={() => setTrail(trail.slice(0, -1))}
          >
            {t('why.back', { reference: trail.at(-2) ?? reference })}
          </Button>
        </Group>
      )}
      <Panel state={query} label={t('memory')}>
        {(told) => <Head told={told} />}
      </Panel>
      {query.data && <Origin told={query.data} onExplain={explain} />}
      {query.data && <CameOf told={query.data} onExplain={explain} />}
    </Stack>
  );
}

function Head({ told: { memory, told_to: sessions, more_told: more } }: { told: Told }) {
  const { t } = useTranslation(['memory', 'timeline']);
  const name = memory.label.replace(/^(?:note|qa) /, '');
  const page = pageOf(memory.uris[0] ?? name);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Badge color="brand">{t(`timeline:kind.${memory.kind as Kind}`)}</Badge>
        <StatusMark status={memory.status} />
        {page && <PageLink to={`${page}?tab=versions`}>{t('version', { version: memory.version })}</PageLink>}
        {page && (
          <PageLink to={`${page}?tab=told`}>
            {t('strip.told', { count: sessions.length, context: more ? 'more' : undefined })}
          </PageLink>
        )}
      </Group>
      {memory.title && (
        <Text size="sm" fw={600} lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
          {plainLine(memory.title)}
        </Text>
      )}
      <Ref reference={name} />
      <CommandLine command={`codexmem why ${quoted(name)}`} />
    </Stack>
  );
}

/** As a shell takes it: # begins a comment there. */
function quoted(name: string): string {
  return /^[\w./:-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
