// The navigation, by group.
import { Link, useLocation } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NAV_GROUPS, NAV_PAGES } from './pages';
import classes from './Shell.module.css';

export function Sidebar({ onChosen }: { onChosen: () => void }) {
  const { t } = useTranslation('shell');
  const { pathname } = useLocation();
  return (
    <nav aria-label={t('nav.label')} className={classes['nav']}>
      {NAV_GROUPS.map((group) => (
        <div key={group}>
          <div className={classes['group']} id={`nav-${group}`}>
            {t(`group.${group}`)}
          </div>
          <ul aria-labelledby={`nav-${group}`} className={classes['links']}>
            {NAV_PAGES.filter((page) => page.group === group).map(({ name, to, icon: Icon, owns }) => (
              <li key={name}>
                <Link
                  to={to}
                  className={classes['link']}
                  aria-current={owns.test(pathname) ? 'page' : undefined}
                  onClick={onChosen}
                >
                  <Icon size={16} stroke={1.7} aria-hidden />
                  <span>{t(`nav.${name}`)}</span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
