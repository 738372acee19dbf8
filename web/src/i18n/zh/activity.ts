// 运行状况页面与首次访问的文本。
import viewer from './viewer';

export default { viewer };
