// Texts of the page of operations and of a first visit.
import viewer from './viewer';

export default { viewer };
