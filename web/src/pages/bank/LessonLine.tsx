// One lesson in the list: what it says, for whom, from which run, and whether a person had a hand in it.
import { Badge, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconUserEdit } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Ref } from '@/parts/Ref';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { TYPES, type Lesson } from './queries';
import { shortId } from './shortId';
import classes from './Bank.module.css';

const SHOWN = 300; // characters that a row can hold at most

export function LessonLine({ lesson }: { lesson: Lesson }) {
  const { t } = useTranslation('bank');
  const typeName = useTypeName();
  const { title, content, source_run_id: source } = lesson;
  const said = title ? `${title} — ${content}` : content;
  return (
    <div className={classes['line']}>
      <div className={classes['said']} dir="auto">
        {said.slice(0, SHOWN)}
      </div>
      <div className={classes['about']}>
        <Badge color="brand">{lesson.role}</Badge>
        <span>{typeName(lesson.type)}</span>
        {lesson.status !== 'active' && <StatusMark status={lesson.status} />}
        {lesson.edited_by_hand && (
          <Tooltip label={t('byHand')}>
            <span>
              <IconUserEdit size={14} aria-hidden />
              <VisuallyHidden>{t('byHand')}</VisuallyHidden>
            </span>
          </Tooltip>
        )}
        {source && (
          <span className={classes['wide']} onClick={(event) => event.stopPropagation()}>
            {t('from')}{' '}
            <Ref reference={source} copy={false}>
              {shortId(source)}
            </Ref>
          </span>
        )}
        <span className={`${classes['id']} ${classes['wide']}`}>{`mem:${shortId(lesson.mem_id)}`}</span>
        <span className={classes['end']}>
          <TimeText at={lesson.updated_at * 1_000} />
        </span>
      </div>
    </div>
  );
}

export function useTypeName(): (type: string) => string {
  const { t } = useTranslation('bank');
  return (type) => {
    const known = TYPES.find((each) => each === type);
    return known ? t(`types.${known}`) : type;
  };
}
