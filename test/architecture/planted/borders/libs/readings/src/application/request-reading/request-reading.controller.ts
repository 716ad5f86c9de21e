// caught by: class-validator-below-http-only
export { IsString } from 'class-validator';
