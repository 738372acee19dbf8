// A file from the server. With an API key the answer is fetched and saved, because a link cannot carry a key.
import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { download } from '@/api/client';
import { useCurrentKey } from '@/api/keys';
import { reasonOf } from './errorText';
import { notifyError } from './undoable';

type Props = { href: string; name: string; children: ReactNode };

export function DownloadLink({ href, name, children }: Props) {
  const { t } = useTranslation();
  const key = useCurrentKey();
  const look = { variant: 'default', leftSection: <IconDownload size={14} /> } as const;
  if (!key) {
    return (
      <Button component="a" href={href} download={name} {...look}>
        {children}
      </Button>
    );
  }
  const save = () =>
    download(href, name).catch((thrown: unknown) => notifyError(t('downloadFailed', { reason: reasonOf(thrown) })));
  return (
    <Button onClick={() => void save()} {...look}>
      {children}
    </Button>
  );
}
