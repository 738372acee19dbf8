// What was asked in the same turn, and what else came of the same events.
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { pageOf } from '@/parts/reference';
import { KindMark } from './KindMark';
import type { MemoryKind, Provenance } from './queries';
import { TextLink } from '@/parts/TextLink';
import classes from './Observation.module.css';

const SHOWN = 12;

export function MemoryRelatives({ from }: { from: Provenance }) {
  const { t } = useTranslation('timeline');
  const prompt = from.prompt && from.prompt.seq !== from.memory.seq ? [from.prompt] : [];
  const relatives = [...prompt, ...from.derived].filter((each) => each.status !== 'deleted').slice(0, SHOWN);
  if (!relatives.length) return null;
  return (
    <Panel title={t('memory.related')}>
      <ul className={classes['relatives']}>
        {relatives.map((each) => (
          <li key={each.seq}>
            <KindMark kind={each.kind as MemoryKind} bare />
            <TextLink to={pageOf(each.label) ?? '#'}>{each.title || each.label}</TextLink>
            {each.seq === from.prompt?.seq && (
              <Text span size="xs" c="dimmed">
                {t('memory.asked')}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
