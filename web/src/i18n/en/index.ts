// All texts of one language, by area.
import first from './first';
import memories from './memories';
import rest from './rest';
import viewer from './viewer';

export default { ...first, ...memories, ...rest, viewer };
