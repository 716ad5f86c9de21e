// caught by: domain-does-no-io
export { Injectable } from '@nestjs/common';
