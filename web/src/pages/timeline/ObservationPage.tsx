// One observation, summary or prompt.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/parts/Page';
import { Panel } from '@/parts/Panel';
import { KINDS, type TimelineKind } from './filters';
import { MemoryElsewhere } from './MemoryElsewhere';
import { MemoryWhole } from './MemoryWhole';
import { provenance } from './queries';

function isOnTimeline(kind: string): kind is TimelineKind {
  return KINDS.some((each) => each === kind);
}

export function ObservationPage() {
  const { t } = useTranslation('timeline');
  const { seq: written = '' } = useParams({ strict: false });
  const from = useQuery({
    queryKey: ['timeline', 'memory', 'from', written],
    queryFn: ({ signal }) => provenance(written, signal),
  });
  const named = written.startsWith('S') ? 'summary' : written.startsWith('P') ? 'prompt' : 'observation';
  if (!from.data) {
    return (
      <Page title={t('numbered', { kind: t(`kind.${named}`), ref: `#${written}` })}>
        <Panel label={t(`kind.${named}`)} state={from}>
          {null}
        </Panel>
      </Page>
    );
  }
  const { kind, seq } = from.data.memory;
  return isOnTimeline(kind) ? (
    <MemoryWhole key={seq} from={from.data} kind={kind} />
  ) : (
    <MemoryElsewhere key={seq} from={from.data} />
  );
}
