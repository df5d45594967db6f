export { samplesOf, type Sample, type SampleRequest, type SampleService } from './samples.js';
