// What stands beside an item: those that contradict it first, then those that ask nearly the same.
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import { Panel } from '@/parts/Panel';
import type { Beside } from './besides';
import { Neighbour } from './Neighbour';
import type { QaDetail } from './queries';

type Props = {
  item: QaDetail;
  near: readonly Beside[];
  similar: UseQueryResult<Schemas['QASimilarAnswer']>;
  onMerge: (id: string) => void;
};

export function Neighbours({ item, near, similar, onMerge }: Props) {
  const { t } = useTranslation('qa');
  const why = similar.data?.degraded;
  return (
    <Panel
      title={t('near.title')}
      state={similar}
      isEmpty={() => near.length === 0}
      empty={{ title: t('near.empty'), why: t('near.why') }}
      degraded={why?.length ? t('near.degraded', { why: why.join('; ') }) : null}
      flush
    >
      {near.map((other, index) => (
        <Neighbour
          key={other.qa_id}
          item={item}
          other={other}
          opened={other.against || index === 0}
          onMerge={() => onMerge(other.qa_id)}
        />
      ))}
    </Panel>
  );
}
