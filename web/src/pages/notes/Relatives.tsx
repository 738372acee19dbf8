// Other memories that have to do with one: each a link, and each explained in place when asked.
import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import type { Relative } from './queries';
import { useKindName } from './useKindName';
import { useRelationName } from './useRelationName';
import classes from './Provenance.module.css';

type Props = { relatives: readonly Relative[]; none: string; onExplain: (label: string) => void };

export function Relatives({ relatives, none, onExplain }: Props) {
  const { t } = useTranslation('notes');
  const kindName = useKindName();
  const relationName = useRelationName();
  if (!relatives.length) {
    return (
      <Text size="sm" c="dimmed" p="md">
        {none}
      </Text>
    );
  }
  return (
    <ul className={classes['items']}>
      {relatives.map((each) => (
        <li key={`${each.relation} ${each.label}`} className={classes['item']}>
          <div className={classes['relative']}>
            <span className={classes['line']}>
              <Ref reference={each.label.replace(/^(?:note|qa) /, '')} copy={false} />
              <span className={classes['muted']}>
                {each.relation ? relationName(each.relation) : kindName(each.kind)}
              </span>
              {each.status !== 'active' && <StatusMark status={each.status} />}
            </span>
            {each.title && <span className={classes['title']}>{each.title}</span>}
          </div>
          <Tooltip label={t('why.explain', { reference: each.label })}>
            <ActionIcon
              size={24}
              aria-label={t('why.explain', { reference: each.label })}
              onClick={() => onExplain(each.label)}
            >
              <IconRoute size={14} />
            </ActionIcon>
          </Tooltip>
        </li>
      ))}
    </ul>
  );
}
