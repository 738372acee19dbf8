// What stands at one address: a note with its versions, aliases and relations, or a view of many.
import { useParams } from '@tanstack/react-router';
import { uriOf } from '@/parts/reference';
import { isView } from './addresses';
import { NotePage } from './NotePage';
import { ViewPage } from './ViewPage';

export function MemoryPage() {
  const { _splat = '' } = useParams({ strict: false });
  const uri = uriOf(_splat);
  // A new address is a new page: nothing half-written is carried over.
  return isView(uri) ? <ViewPage key={uri} uri={uri} /> : <NotePage key={uri} uri={uri} />;
}
