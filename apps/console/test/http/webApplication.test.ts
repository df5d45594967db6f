import { webApplicationRouter } from '../../src/http/webApplication.js';

describe('webApplicationRouter', () => {
  it('names the command to run if the web application is not built', () => {
    expect(() => webApplicationRouter('/nonexistent')).toThrow(
      'the web application is not built: run npm run build',
    );
  });
});
