-- Install Forebay 0.2.0, or upgrade to it: psql -v ON_ERROR_STOP=1 -f db/install.sql
--
-- The files in load order; a function's folder is the role that may call it. One transaction.
-- Running it again changes nothing, and neither does `forebay db upgrade` after it.
-- Written by `forebay db install-script`: do not edit.

\set release 0.2.0
\ir install/begin.sql

-- migrations
\set file migrations/0001_create_roles.sql \set sha256 d5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe \ir install/apply.sql
\set file migrations/0002_create_agents_and_tasks.sql \set sha256 2c1fbf18c74e0332d64029c80d29acba5533e27af6ec31b31ea3d5a7123ff4a4 \ir install/apply.sql
\set file migrations/0003_create_row_types.sql \set sha256 0e1b9666d7fe946b311632fa3a0ee86d2fb06992126b879a0adb73a4a1e474c2 \ir install/apply.sql
\set file migrations/0004_hold_quotas.sql \set sha256 d62030a044e7df993f92437e6c18d83034636f09cd3be2e84a68ee0750555afa \ir install/apply.sql

-- functions/internal
\set file functions/internal/_admit.sql \set sha256 849ffe50f9bd3dfe00fad1b4ee6483bec97061fe51dc3dd6fe2f42f494438430 \ir install/apply.sql
\set file functions/internal/_agent_key.sql \set sha256 a3485185c8d3b59a229f11d9a952ce90dcd0d7c51ebc86e0d8145213555b9891 \ir install/apply.sql
\set file functions/internal/_agent_state.sql \set sha256 6c51a645f1486ded032ff9a1d208e0ed215dfb1d11ba35d7e07f4d427af95d2e \ir install/apply.sql
\set file functions/internal/_ask_wakeup.sql \set sha256 ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb \ir install/apply.sql
\set file functions/internal/_audit.sql \set sha256 5aaafc89472ce203c6af52123fd031c69f7d52f9936208a041d35543c3aab3da \ir install/apply.sql
\set file functions/internal/_backoff.sql \set sha256 e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04 \ir install/apply.sql
\set file functions/internal/_cancel.sql \set sha256 f153b94eca5ced28d6bd1a30fa51b754bb33587a9b07bacab7dc688527cbd636 \ir install/apply.sql
\set file functions/internal/_candidates.sql \set sha256 487d3f5274a226bfaa1e07cfa6a305c0c6eaaaeffd59e2936ed3969ad2691cb8 \ir install/apply.sql
\set file functions/internal/_capped_customers.sql \set sha256 759e557937e8740b5235567c4cf329a94fb7dacc5cdb53999be860e0e9ad95c8 \ir install/apply.sql
\set file functions/internal/_caps.sql \set sha256 217b1834621fe63cc0c07062a079a5e5d35fc09501a05ef21ba0c0ef8ffc3aec \ir install/apply.sql
\set file functions/internal/_claim.sql \set sha256 86b7fda45dac44455fa26f3c5b991795ef460af6a4c19e8ea39b62c63e5ac0ca \ir install/apply.sql
\set file functions/internal/_cluster.sql \set sha256 d4d75bb468ce6263c7c032552073e6d08fd4cd40da05f2ebc7b625559da548a9 \ir install/apply.sql
\set file functions/internal/_count_ahead.sql \set sha256 4a65dad55f279dfa5a1752e84bc74bdef796721ed3adb1e7cd844837cc02685b \ir install/apply.sql
\set file functions/internal/_effects.sql \set sha256 44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348 \ir install/apply.sql
\set file functions/internal/_end_expired.sql \set sha256 a072c760eca2ca7ef2facc2463f81fb0844e9f05b28c5e9bbcdb2ca5a3052791 \ir install/apply.sql
\set file functions/internal/_end_observed.sql \set sha256 d9f7896a577be3bb394906b77900e30513cf7dc499cd699db0ffdffbbf6f88cf \ir install/apply.sql
\set file functions/internal/_error.sql \set sha256 adb4a051012f74a5904509a9301057f0be0eddb4678aa32e5d142ebe158240c1 \ir install/apply.sql
\set file functions/internal/_estimate.sql \set sha256 90a7b3cd67185b61ce1978eee7034186277545a63f17ea43e9cc965cd387cfe5 \ir install/apply.sql
\set file functions/internal/_exact.sql \set sha256 455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63 \ir install/apply.sql
\set file functions/internal/_expect.sql \set sha256 d88b0ffc9b00e77765cd7d768fe4a0ae2c66bccedf7851219ac854fc2a73aef5 \ir install/apply.sql
\set file functions/internal/_expired_priority.sql \set sha256 45e25201d39ea10007c2a8a0aed7207ecff469d4f8da687195e294691edab66b \ir install/apply.sql
\set file functions/internal/_expiry_error.sql \set sha256 0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47 \ir install/apply.sql
\set file functions/internal/_explain_running.sql \set sha256 3411c357d42f817785fb703d0a51a478413e69718d0006c8ff29efa24989f2b8 \ir install/apply.sql
\set file functions/internal/_explain_waiting.sql \set sha256 f4eb04032facbde02df8480c70c9d4ebb30a02a2d2a759b9c449ed21e55c7dcc \ir install/apply.sql
\set file functions/internal/_fits.sql \set sha256 875d338575ae51616b453d2afab136e6ba187f219eb5c298502d93cbcda18355 \ir install/apply.sql
\set file functions/internal/_get_agent.sql \set sha256 7bd9baf71d420bc9044e02d8d9a06fcb4fe1960d03168ddcf473ec13a2ff2b61 \ir install/apply.sql
\set file functions/internal/_get_attempt.sql \set sha256 fc2a2167cc87ae79b74d68c51172e99cb4b53992fa4d9ce23097258a47d34afb \ir install/apply.sql
\set file functions/internal/_get_batch.sql \set sha256 07688b3d7f07308ef032d81b5584e5b6c4b4062a81202492a8db34fde63408bf \ir install/apply.sql
\set file functions/internal/_get_effective.sql \set sha256 0119c77de0370e27f1b977edd582aa649c00a07399da3b8fdf82e60f7cdae261 \ir install/apply.sql
\set file functions/internal/_get_task.sql \set sha256 30a9c110ca13ef8bffe364086364c57e823a968ae2aa350ccc62d948def7f861 \ir install/apply.sql
\set file functions/internal/_give_back.sql \set sha256 64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307 \ir install/apply.sql
\set file functions/internal/_head.sql \set sha256 0fa29a8e81305b9d8376a201a150267cccdcd27b4f5ee5c2abd912669854753d \ir install/apply.sql
\set file functions/internal/_head_fits.sql \set sha256 4d7638866f262b97ae0201853a4e39a3a5c5df1be97c62d58b0196de8f9d430c \ir install/apply.sql
\set file functions/internal/_in_use.sql \set sha256 c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908 \ir install/apply.sql
\set file functions/internal/_is_copy.sql \set sha256 a16d5c03b1f76d519b8dd00c4238eb98c3b6a2739cb4328067abd00fe2e70bfd \ir install/apply.sql
\set file functions/internal/_is_expired.sql \set sha256 b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12 \ir install/apply.sql
\set file functions/internal/_is_external.sql \set sha256 5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b \ir install/apply.sql
\set file functions/internal/_is_limited.sql \set sha256 37ef8a52e51582e39cb931859f9c121ba59ada12b7d53a7ab8b8f73fcb8f2926 \ir install/apply.sql
\set file functions/internal/_json_boolean.sql \set sha256 a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e \ir install/apply.sql
\set file functions/internal/_json_integer.sql \set sha256 aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6 \ir install/apply.sql
\set file functions/internal/_json_name.sql \set sha256 a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5 \ir install/apply.sql
\set file functions/internal/_json_number.sql \set sha256 dcd95cc0a395edf41a4c5d74ff8aadebccdfa853c68cebce1dc2a9f6ab99a695 \ir install/apply.sql
\set file functions/internal/_json_text.sql \set sha256 b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c \ir install/apply.sql
\set file functions/internal/_json_time.sql \set sha256 b1d3406939b8c43b6e7dfc1744e19655cdca0193c41106914fdec157031a6838 \ir install/apply.sql
\set file functions/internal/_learned.sql \set sha256 5180aab1b53431fa287247005c5cb671ae7e454348131450cb7e33e9ec5a9e2b \ir install/apply.sql
\set file functions/internal/_levels.sql \set sha256 8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257 \ir install/apply.sql
\set file functions/internal/_limits.sql \set sha256 26f8cac4223dcfb4aa4ebe397c8e59c6da73af30ee3859a472b6b281e8be2296 \ir install/apply.sql
\set file functions/internal/_lock_agent.sql \set sha256 bf86f2724edb31e19849f7a5b3b1a02cb6769680bb8b228d38c207231b254856 \ir install/apply.sql
\set file functions/internal/_lock_attempt.sql \set sha256 7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c \ir install/apply.sql
\set file functions/internal/_lock_customers.sql \set sha256 91ccc31d0707899cccc00dfc6daad65264f1c1c8ffe4e82530f51fc603d337b9 \ir install/apply.sql
\set file functions/internal/_lock_definition.sql \set sha256 bdce51e1f5876c48acc110fe5cac424333d934121af9121b2ad542e29e91d81f \ir install/apply.sql
\set file functions/internal/_lock_quotas.sql \set sha256 8a732fde774daf51e3830a970a84a65f5909b071b74c53ce5bc4f50d2967cfd6 \ir install/apply.sql
\set file functions/internal/_lock_tasks.sql \set sha256 1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71 \ir install/apply.sql
\set file functions/internal/_match_keys.sql \set sha256 c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6 \ir install/apply.sql
\set file functions/internal/_matching_tasks.sql \set sha256 b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3 \ir install/apply.sql
\set file functions/internal/_may_dispatch.sql \set sha256 53d8c44d0fab321981410328d384ab1eaab4e92c47813ebc8ebc79733716450a \ir install/apply.sql
\set file functions/internal/_may_retry.sql \set sha256 ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e \ir install/apply.sql
\set file functions/internal/_measure.sql \set sha256 41119352e89abcda4d58aa5235358a13ed0cb174933fa074348e0e138619bd34 \ir install/apply.sql
\set file functions/internal/_names.sql \set sha256 4b98395b29edf3db3bf636f18c26d2b17235c1ddd70b16a5d42a98c9511bf6f4 \ir install/apply.sql
\set file functions/internal/_next_round.sql \set sha256 262d6c317d5c45df08a0845b96f2e615d330fe4d3ebdab5daffbace029feb89d \ir install/apply.sql
\set file functions/internal/_notify.sql \set sha256 5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd \ir install/apply.sql
\set file functions/internal/_now.sql \set sha256 f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30 \ir install/apply.sql
\set file functions/internal/_open_line.sql \set sha256 2320f0cea391036a795c290920acde3955361c0790236fb1fea058a780a5f843 \ir install/apply.sql
\set file functions/internal/_own_batch.sql \set sha256 1fb811bbf1cd32dde3a12a05dec0cfa6bfafd07ea42f667f984b4539833f2cf1 \ir install/apply.sql
\set file functions/internal/_parse_task.sql \set sha256 faa1627fc72e4456dfea15597b657f435ea91c7a21d6c883515a20e9284fe5a8 \ir install/apply.sql
\set file functions/internal/_pause.sql \set sha256 33ad7aef507540acf89e953ab0a08d8e5a0ad6ed83ddb6a2a93c6c8eea98a8e1 \ir install/apply.sql
\set file functions/internal/_quota_rooms.sql \set sha256 a196dc33a163a9691dc69f9fbb082ada8bc66253ceb78ca782640b89ce0de84a \ir install/apply.sql
\set file functions/internal/_record_usage.sql \set sha256 28e27926b066274dcb2a65b2943f93c1fef5b8599ba31788c6db59eaa3588d8a \ir install/apply.sql
\set file functions/internal/_refill.sql \set sha256 528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2 \ir install/apply.sql
\set file functions/internal/_refilled_at.sql \set sha256 19fbdcc0cc4bb14d94ee214390ae18df46b8ed8047b5dc2215256940bcf0f7ad \ir install/apply.sql
\set file functions/internal/_report.sql \set sha256 166c170f7c343995a5b48814a3f9fa2fdf9b1b0cae884cd89a1a55581e331a75 \ir install/apply.sql
\set file functions/internal/_report_effect.sql \set sha256 cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d \ir install/apply.sql
\set file functions/internal/_report_event.sql \set sha256 884f0df1889582c9f4bd7567f72d8b46fa4b27bc7dd715a680721196bcfc6b84 \ir install/apply.sql
\set file functions/internal/_request_burst.sql \set sha256 834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a \ir install/apply.sql
\set file functions/internal/_require_agent_definition.sql \set sha256 0f9b9205964f5b8a568fef26501645ed268cfef1456f7017cbff26acfb88c59d \ir install/apply.sql
\set file functions/internal/_require_agents.sql \set sha256 da67b2a489d1c7c28044aeb80024d325b9b6a890b67f3ab5f2baca6f016ca8b8 \ir install/apply.sql
\set file functions/internal/_require_between.sql \set sha256 481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e \ir install/apply.sql
\set file functions/internal/_require_delay.sql \set sha256 cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b \ir install/apply.sql
\set file functions/internal/_require_ids.sql \set sha256 fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01 \ir install/apply.sql
\set file functions/internal/_require_launchers.sql \set sha256 79301b1cdf251d3b587f91f7430fa375572b46894863176e72cf67faa2d17a86 \ir install/apply.sql
\set file functions/internal/_require_open.sql \set sha256 6bfd3f9411590ebbe2f788168b8619eb279916c8c063a5110ac472447cc7004a \ir install/apply.sql
\set file functions/internal/_require_size.sql \set sha256 028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90 \ir install/apply.sql
\set file functions/internal/_require_statuses.sql \set sha256 f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89 \ir install/apply.sql
\set file functions/internal/_require_worker.sql \set sha256 ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a \ir install/apply.sql
\set file functions/internal/_result_fault.sql \set sha256 735a89744a3ddf4158111f47564dc8f1b9f8124e1e307a8c80ebb17420fc50a2 \ir install/apply.sql
\set file functions/internal/_retry.sql \set sha256 f03c9ca8fdbf9fb3827f3eda0e14b588d9f92a609f975ffaa604da3d5d993cdb \ir install/apply.sql
\set file functions/internal/_room.sql \set sha256 2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782 \ir install/apply.sql
\set file functions/internal/_run_outcome.sql \set sha256 79d6d17f61facbb23fbaec4fb5baeba17ce0b756ab45e298a08218d965a6a7cc \ir install/apply.sql
\set file functions/internal/_run_words.sql \set sha256 59e56519f3b5b917db7da39a8229b2625aea28d1644b39bafd4c0df3917cef90 \ir install/apply.sql
\set file functions/internal/_seen.sql \set sha256 2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217 \ir install/apply.sql
\set file functions/internal/_set_budget.sql \set sha256 7a747f18bfedb79091f2ca55993e93161bea9733585e24c9c68b94c9ce088da4 \ir install/apply.sql
\set file functions/internal/_settle.sql \set sha256 fa52da2867aa0ba14a52a3e4430f756ed0f5b0e5d13c0a268fa1cae9e8f11520 \ir install/apply.sql
\set file functions/internal/_spend.sql \set sha256 f2a21f622211f60c07fc2082c1f62a9105c1428642aaf4e407c8a645fbf97b92 \ir install/apply.sql
\set file functions/internal/_throttle.sql \set sha256 7bddb456ebcc1ce7e2743a3a08817f7d508e2e54d8651dd156a581302d6d5e10 \ir install/apply.sql
\set file functions/internal/_token_burst.sql \set sha256 c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa \ir install/apply.sql
\set file functions/internal/_usage_tokens.sql \set sha256 f512691da012fcfd4ef79f53fb69e118cc745debc42fc12872323e2e50e3bc39 \ir install/apply.sql
\set file functions/internal/_waiting_words.sql \set sha256 c5c9b9a73ce95035dc9c91e1d4ee16a197fe2841561d4407e120200068794011 \ir install/apply.sql
\set file functions/internal/_wake_due.sql \set sha256 d9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3 \ir install/apply.sql

-- functions/submitter
\set file functions/submitter/batch_tasks.sql \set sha256 67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2 \ir install/apply.sql
\set file functions/submitter/cancel_batch.sql \set sha256 9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2 \ir install/apply.sql
\set file functions/submitter/enqueue.sql \set sha256 fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c \ir install/apply.sql
\set file functions/submitter/enqueue_many.sql \set sha256 63f07260bbf06675339c8caadfd314870d9c277a335329e32efd9a2514276eca \ir install/apply.sql
\set file functions/submitter/open_batch.sql \set sha256 c1d8a74a829f3d5e2d66404e1aee51d33320e9585e08bcb99bd3c1e070bd38d8 \ir install/apply.sql
\set file functions/submitter/retry_batch.sql \set sha256 5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204 \ir install/apply.sql

-- functions/worker
\set file functions/worker/adopt.sql \set sha256 4020a054c4bb3024fe404786a7b45c30072cec8cbc0bddde3ee663a371912409 \ir install/apply.sql
\set file functions/worker/dequeue.sql \set sha256 4c265ceeaa42da0ed0bde8052df238a3586084e7514e3db9d2725751e878da92 \ir install/apply.sql
\set file functions/worker/observe_run.sql \set sha256 df271566de0d8dfd8733bbdd2944b16b42f29d5281e107e26cbf8e4308a75e89 \ir install/apply.sql
\set file functions/worker/record_run.sql \set sha256 6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0 \ir install/apply.sql
\set file functions/worker/release.sql \set sha256 939a00f65da44f63a2bb61e933bf9fc405d54bcb8bac49ef38b0345aa794d719 \ir install/apply.sql
\set file functions/worker/renew_leases.sql \set sha256 c0886187a0d032b3d2ba28d10b703ead09d84ef2c89c631ba7efdc36c8fb7bcc \ir install/apply.sql
\set file functions/worker/runs_to_cancel.sql \set sha256 93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f \ir install/apply.sql
\set file functions/worker/sweep.sql \set sha256 7f9e0e2e3b8d61f3355f6fac0c9717ae613d003c9afee498e646724be549e037 \ir install/apply.sql

-- functions/agent
\set file functions/agent/callback.sql \set sha256 98f9be962781a12417af2508e33cd5adc487314727f29ba5609b20f5d8064fd5 \ir install/apply.sql
\set file functions/agent/complete.sql \set sha256 28fa401c8917c9c15328ed76f20df9373eadf321598ca4ccd692ceffe3f80809 \ir install/apply.sql
\set file functions/agent/complete_many.sql \set sha256 11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79 \ir install/apply.sql
\set file functions/agent/fail.sql \set sha256 105ee5c438edb0018033305fe0974632881b328e18ad2186975de1bfe7df8bc5 \ir install/apply.sql
\set file functions/agent/report_progress.sql \set sha256 6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b \ir install/apply.sql
\set file functions/agent/report_usage.sql \set sha256 7b11ed8c1e70b6d7d102cd120adefffc5b518da1c50ded4c35f7ec4d05de8da2 \ir install/apply.sql

-- functions/operator
\set file functions/operator/cancel.sql \set sha256 b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373 \ir install/apply.sql
\set file functions/operator/open_installation.sql \set sha256 e5b2b0811a664b4631cc8068039da44dd771bf0b26c96ceb7253aece540cd53a \ir install/apply.sql
\set file functions/operator/pause_agent.sql \set sha256 644ab2d29c190cbc44c73505248c30a271f9f175c402c7933e3837f6247295f7 \ir install/apply.sql
\set file functions/operator/register_agent.sql \set sha256 29abec0b62ad4670f1747843b9f0bcd581d607d471a9db2687956c230e9549f3 \ir install/apply.sql
\set file functions/operator/reprioritize.sql \set sha256 c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921 \ir install/apply.sql
\set file functions/operator/reprocess.sql \set sha256 20d34a9fabbcf72533c134d924e9ac9de0d1fd78928366a0b0a5915f8db4f8f1 \ir install/apply.sql
\set file functions/operator/resume_agent.sql \set sha256 9a67a6dcf9fa1dc1047b05d0aac4a1bb3d66894299af7f5515260ca54d2871e9 \ir install/apply.sql
\set file functions/operator/retry.sql \set sha256 c26f542f819b28dc1af1549b2c504b076d9495d3ccf82c627cdbf2a027945c52 \ir install/apply.sql

-- functions/viewer
\set file functions/viewer/agent_status.sql \set sha256 b34aaf8e25cee0f4faa07e3443769f454cbcfb604c2db5adf7bc561a4ee87bb7 \ir install/apply.sql
\set file functions/viewer/batch_progress.sql \set sha256 11cf33c25ab77eaf5520703aabdce002ded4782b6233a47881f3460f83ac226e \ir install/apply.sql
\set file functions/viewer/explain_task.sql \set sha256 35df128eda72e67713e36dfb6ec4d93ce61503c1bab88b693a0274f06924e3eb \ir install/apply.sql
\set file functions/viewer/health.sql \set sha256 21b60ac521a393140aca9b9baf0b16a04f5ce5a06beefa8060e3bf56bf48c314 \ir install/apply.sql
\set file functions/viewer/list_tasks.sql \set sha256 2a7b72e4a117033e6bf855eb10d79ecf8b1f79ad14e9094b0bf7ead8a8b0fec5 \ir install/apply.sql
\set file functions/viewer/schema_version.sql \set sha256 f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4 \ir install/apply.sql
\set file functions/viewer/server_time.sql \set sha256 0f5e4990a8b04d9c7f4865c6c6617474d0f70ae3750d91abb4cbfdbc808c21bf \ir install/apply.sql
\set file functions/viewer/task_counts.sql \set sha256 f260bbd3778ec11d21ea5d7d38bbdc324d9a5f66d8c35912797cd08b4d2a901c \ir install/apply.sql
\set file functions/viewer/task_detail.sql \set sha256 e63185990f820a264a83e2cb06df15299c8fc7d99af62b5b82a4e70c251380a1 \ir install/apply.sql

-- functions/reader
\set file functions/reader/task_result.sql \set sha256 c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f \ir install/apply.sql

-- triggers
\set file triggers/agents.sql \set sha256 f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91 \ir install/apply.sql
\set file triggers/tasks.sql \set sha256 b51f2c870e7943746dc863230dbb2f5a7021b08f72afddeac5649eb4b9943638 \ir install/apply.sql
\set file triggers/wakeups.sql \set sha256 f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07 \ir install/apply.sql

-- grants.sql
\set file grants.sql \set sha256 ea1ff27ebfbc6fa8c20e908ed7b14444e9a1c8c1e3fe7bf3dcbf98a1f3e1a97c \ir install/apply.sql

\ir install/finish.sql
