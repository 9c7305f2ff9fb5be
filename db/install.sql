-- Install Forebay 0.1.0, or upgrade to it: psql -v ON_ERROR_STOP=1 -f db/install.sql
--
-- The files in load order; a function's folder is the role that may call it. One transaction.
-- Running it again changes nothing, and neither does `forebay db upgrade` after it.
-- Written by `forebay db install-script`: do not edit.

\set release 0.1.0
\ir install/begin.sql

-- migrations
\set file migrations/0001_create_roles.sql \set sha256 d5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe \ir install/apply.sql
\set file migrations/0002_create_agents_and_tasks.sql \set sha256 bbcc2ee6768a32c4dabab6d4123bf098313f04d534047b0287393cfb0a9dceeb \ir install/apply.sql
\set file migrations/0003_create_row_types.sql \set sha256 20d89d1e4d6a5b2e98d36218ef082201762c9bba609f4a4be86dd6db9569eda0 \ir install/apply.sql

-- functions/internal
\set file functions/internal/_admit.sql \set sha256 849ffe50f9bd3dfe00fad1b4ee6483bec97061fe51dc3dd6fe2f42f494438430 \ir install/apply.sql
\set file functions/internal/_agent_state.sql \set sha256 6c51a645f1486ded032ff9a1d208e0ed215dfb1d11ba35d7e07f4d427af95d2e \ir install/apply.sql
\set file functions/internal/_ask_wakeup.sql \set sha256 ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb \ir install/apply.sql
\set file functions/internal/_audit.sql \set sha256 532177601fa9976a73ffaae502b6b01725465907e7630ddab31a3a19927a9a35 \ir install/apply.sql
\set file functions/internal/_backoff.sql \set sha256 e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04 \ir install/apply.sql
\set file functions/internal/_cancel.sql \set sha256 5ade04005482234ab51e90ba750c1ece62e37568f149bf130c6df0438388a0d7 \ir install/apply.sql
\set file functions/internal/_candidates.sql \set sha256 197e21b5ddf094615a183739e363800820fefc79625ebc40adddddf88aca7bf1 \ir install/apply.sql
\set file functions/internal/_claim.sql \set sha256 dfc724645546e326caddeec1b96bd3be889356a8f43cfad7d53308dbb3926be8 \ir install/apply.sql
\set file functions/internal/_count_ahead.sql \set sha256 4a65dad55f279dfa5a1752e84bc74bdef796721ed3adb1e7cd844837cc02685b \ir install/apply.sql
\set file functions/internal/_effects.sql \set sha256 44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348 \ir install/apply.sql
\set file functions/internal/_end_expired.sql \set sha256 1505b79837be2b30700e891d33c82fe4fc0ca8ba607dbde2fb6da6bb65b3b678 \ir install/apply.sql
\set file functions/internal/_error.sql \set sha256 adb4a051012f74a5904509a9301057f0be0eddb4678aa32e5d142ebe158240c1 \ir install/apply.sql
\set file functions/internal/_estimate.sql \set sha256 90a7b3cd67185b61ce1978eee7034186277545a63f17ea43e9cc965cd387cfe5 \ir install/apply.sql
\set file functions/internal/_exact.sql \set sha256 455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63 \ir install/apply.sql
\set file functions/internal/_expiry_error.sql \set sha256 0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47 \ir install/apply.sql
\set file functions/internal/_explain_running.sql \set sha256 00cead3918517f3123b7dc614261bbc871e8a2c0977c70ffccf8136c2274f932 \ir install/apply.sql
\set file functions/internal/_explain_waiting.sql \set sha256 570f3c0536e0007ec4c898c0b594ab3bcec0c6866f895e4c2c0c0478cfa0d430 \ir install/apply.sql
\set file functions/internal/_fits.sql \set sha256 875d338575ae51616b453d2afab136e6ba187f219eb5c298502d93cbcda18355 \ir install/apply.sql
\set file functions/internal/_get_agent.sql \set sha256 fb0113ce03655f74f5b572bc02e4484625039f6432ec3d74838c406a4b6e9d4b \ir install/apply.sql
\set file functions/internal/_get_attempt.sql \set sha256 60045301ada32043d5ae26eadb80393f962474ba7b9b55a843601fa799b79589 \ir install/apply.sql
\set file functions/internal/_get_batch.sql \set sha256 e37e4c4ce84841a4078cdc31483569e40f395e8ae5722ea1ab7c22beae13c168 \ir install/apply.sql
\set file functions/internal/_get_task.sql \set sha256 c6fc5e6f42709483cd56eec6216f7d4ea40c3fe6125110c0190ad0df22ec5703 \ir install/apply.sql
\set file functions/internal/_give_back.sql \set sha256 64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307 \ir install/apply.sql
\set file functions/internal/_has_expired.sql \set sha256 78cf24adac71ecf215d46f8423cf695291e6322dd4478ce51ce96aac9d9b8c98 \ir install/apply.sql
\set file functions/internal/_head.sql \set sha256 0fa29a8e81305b9d8376a201a150267cccdcd27b4f5ee5c2abd912669854753d \ir install/apply.sql
\set file functions/internal/_head_fits.sql \set sha256 4d7638866f262b97ae0201853a4e39a3a5c5df1be97c62d58b0196de8f9d430c \ir install/apply.sql
\set file functions/internal/_in_use.sql \set sha256 c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908 \ir install/apply.sql
\set file functions/internal/_is_expired.sql \set sha256 b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12 \ir install/apply.sql
\set file functions/internal/_is_external.sql \set sha256 5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b \ir install/apply.sql
\set file functions/internal/_is_limited.sql \set sha256 37ef8a52e51582e39cb931859f9c121ba59ada12b7d53a7ab8b8f73fcb8f2926 \ir install/apply.sql
\set file functions/internal/_is_original.sql \set sha256 5901b690f55ffadfef1f3d9c04001ccc59281742821255d0fa0bbb37a554c9d3 \ir install/apply.sql
\set file functions/internal/_json_boolean.sql \set sha256 a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e \ir install/apply.sql
\set file functions/internal/_json_integer.sql \set sha256 aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6 \ir install/apply.sql
\set file functions/internal/_json_name.sql \set sha256 a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5 \ir install/apply.sql
\set file functions/internal/_json_number.sql \set sha256 d2497f88bc602b9fc8f236967d3addb306b2466f47095efa3f2f473f81fe3a88 \ir install/apply.sql
\set file functions/internal/_json_text.sql \set sha256 b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c \ir install/apply.sql
\set file functions/internal/_json_time.sql \set sha256 8c0d0449e2aa400dcdb5ac2210bb69e56acbcec0b2e124dae1f4ab47dfda5ada \ir install/apply.sql
\set file functions/internal/_levels.sql \set sha256 8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257 \ir install/apply.sql
\set file functions/internal/_lock_attempt.sql \set sha256 7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c \ir install/apply.sql
\set file functions/internal/_lock_tasks.sql \set sha256 1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71 \ir install/apply.sql
\set file functions/internal/_match_keys.sql \set sha256 c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6 \ir install/apply.sql
\set file functions/internal/_matching_tasks.sql \set sha256 b3eebffa8f759b257bfe8793811bf96d3fd1e4f23a37d4d181026835318136d3 \ir install/apply.sql
\set file functions/internal/_may_retry.sql \set sha256 ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e \ir install/apply.sql
\set file functions/internal/_next_round.sql \set sha256 8b94e98b82a62f1c413e9069ac3308f640c837169d790d005277ea9d3ddd7473 \ir install/apply.sql
\set file functions/internal/_notify.sql \set sha256 5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd \ir install/apply.sql
\set file functions/internal/_now.sql \set sha256 f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30 \ir install/apply.sql
\set file functions/internal/_own_batch.sql \set sha256 b185a868540f1e20dd1578f44dde493a2e9c5aeb430cf0dcc4ff1f0e3bfa65a4 \ir install/apply.sql
\set file functions/internal/_parse_task.sql \set sha256 f53a16b59df14b554e7d2efd819dda04a94ef53addd317b5defb150e78df164a \ir install/apply.sql
\set file functions/internal/_pause.sql \set sha256 802045cc830c315c73097601aa936543b23ab734b72e5a582bd39f71e0414415 \ir install/apply.sql
\set file functions/internal/_record_usage.sql \set sha256 4e3d69bf8f1dbe5500c90d01909e54440a56d3c7c332f048785a357261e5945c \ir install/apply.sql
\set file functions/internal/_refill.sql \set sha256 528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2 \ir install/apply.sql
\set file functions/internal/_refilled_at.sql \set sha256 edcbfb5f0d22613247a3d7b9451fed806121d08bdaa0e5da4f79b25088e8195d \ir install/apply.sql
\set file functions/internal/_report.sql \set sha256 9b21593f7674bff146e8894d01d7e0133e0feaf8158dcdf4c7092bc0714727a3 \ir install/apply.sql
\set file functions/internal/_report_effect.sql \set sha256 cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d \ir install/apply.sql
\set file functions/internal/_report_event.sql \set sha256 c1566e33772639ef4625a5f4ef5e74080827ec40b8b96d823cc9d981cf21f333 \ir install/apply.sql
\set file functions/internal/_request_burst.sql \set sha256 834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a \ir install/apply.sql
\set file functions/internal/_require_agent_definition.sql \set sha256 0f9b9205964f5b8a568fef26501645ed268cfef1456f7017cbff26acfb88c59d \ir install/apply.sql
\set file functions/internal/_require_agents.sql \set sha256 48c2286848da176245eb89b9fef738a1069870ccacadbeef085afbb31f519920 \ir install/apply.sql
\set file functions/internal/_require_between.sql \set sha256 481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e \ir install/apply.sql
\set file functions/internal/_require_delay.sql \set sha256 cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b \ir install/apply.sql
\set file functions/internal/_require_ids.sql \set sha256 fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01 \ir install/apply.sql
\set file functions/internal/_require_open.sql \set sha256 dd6a970dc5c2064c55ab351da1784b120fdbdacfc196d65350fbd018fee5b9cb \ir install/apply.sql
\set file functions/internal/_require_size.sql \set sha256 028dc0b1f7148494435d482d8c2cc6a58cd1e092790a24e72bf02f83b2f5fc90 \ir install/apply.sql
\set file functions/internal/_require_statuses.sql \set sha256 f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89 \ir install/apply.sql
\set file functions/internal/_require_worker.sql \set sha256 ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a \ir install/apply.sql
\set file functions/internal/_result_fault.sql \set sha256 735a89744a3ddf4158111f47564dc8f1b9f8124e1e307a8c80ebb17420fc50a2 \ir install/apply.sql
\set file functions/internal/_retry.sql \set sha256 f03c9ca8fdbf9fb3827f3eda0e14b588d9f92a609f975ffaa604da3d5d993cdb \ir install/apply.sql
\set file functions/internal/_room.sql \set sha256 2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782 \ir install/apply.sql
\set file functions/internal/_run_outcome.sql \set sha256 79d6d17f61facbb23fbaec4fb5baeba17ce0b756ab45e298a08218d965a6a7cc \ir install/apply.sql
\set file functions/internal/_run_words.sql \set sha256 59e56519f3b5b917db7da39a8229b2625aea28d1644b39bafd4c0df3917cef90 \ir install/apply.sql
\set file functions/internal/_seen.sql \set sha256 2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217 \ir install/apply.sql
\set file functions/internal/_settle.sql \set sha256 fa52da2867aa0ba14a52a3e4430f756ed0f5b0e5d13c0a268fa1cae9e8f11520 \ir install/apply.sql
\set file functions/internal/_token_burst.sql \set sha256 c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa \ir install/apply.sql
\set file functions/internal/_usage_tokens.sql \set sha256 f512691da012fcfd4ef79f53fb69e118cc745debc42fc12872323e2e50e3bc39 \ir install/apply.sql
\set file functions/internal/_waiting_words.sql \set sha256 6b0c8bf991423f5ef430ae376638203f78f9b9572f40c0fc469545ad90daa9ac \ir install/apply.sql
\set file functions/internal/_wake_due.sql \set sha256 d9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3 \ir install/apply.sql

-- functions/submitter
\set file functions/submitter/batch_tasks.sql \set sha256 67089590108e01ce781eb5381e94e3dfc49245a43a9a4b27475bc9e92c0bd7c2 \ir install/apply.sql
\set file functions/submitter/cancel_batch.sql \set sha256 9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2 \ir install/apply.sql
\set file functions/submitter/enqueue.sql \set sha256 fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c \ir install/apply.sql
\set file functions/submitter/enqueue_many.sql \set sha256 9bb19de8e35e7c761afc8b5a68a6a2e23be1b84d1c7e6c0ddd67df938ea9d5fb \ir install/apply.sql
\set file functions/submitter/open_batch.sql \set sha256 3deb61b1912dd37133901f5facb21a92537d8e9002f04f49671a2f8f6113753a \ir install/apply.sql
\set file functions/submitter/retry_batch.sql \set sha256 5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204 \ir install/apply.sql

-- functions/worker
\set file functions/worker/adopt.sql \set sha256 08dea0211125f795516304358adbf64741311d23f549e36d2fa94f6014e5ccc0 \ir install/apply.sql
\set file functions/worker/dequeue.sql \set sha256 832c5b40a86f7acee2d14ea48bfbec35ad002afcc59a6dce71586653b6165da0 \ir install/apply.sql
\set file functions/worker/observe_run.sql \set sha256 8bfd9af0ef5aa90f88ef3119c979e83c4f45e6bfd76ef9b35385d70f3fdbc728 \ir install/apply.sql
\set file functions/worker/record_run.sql \set sha256 6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0 \ir install/apply.sql
\set file functions/worker/release.sql \set sha256 47b1ca41c91e5bc1f36d18081cfc2e9cad46f4f5287e1d30860102c69de29409 \ir install/apply.sql
\set file functions/worker/renew_leases.sql \set sha256 2d9acf0f5ceae4cff81e3350003e82edf1b3a804bba55c9c58d8f462c5f8416a \ir install/apply.sql
\set file functions/worker/runs_to_cancel.sql \set sha256 93d9491bc167c42b5b6e2473281519e3582140e2e925ab59d039d19ad459a52f \ir install/apply.sql
\set file functions/worker/sweep.sql \set sha256 7f9e0e2e3b8d61f3355f6fac0c9717ae613d003c9afee498e646724be549e037 \ir install/apply.sql

-- functions/agent
\set file functions/agent/callback.sql \set sha256 8a0c4364b0e55ecce368028186e4e0ba544452c8d866010e1c2d470bbd778e69 \ir install/apply.sql
\set file functions/agent/complete.sql \set sha256 ad95bc290bff3aa5f1898ab18a23a7530ede64fa3f270d509c5379efbdc3f743 \ir install/apply.sql
\set file functions/agent/complete_many.sql \set sha256 11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79 \ir install/apply.sql
\set file functions/agent/fail.sql \set sha256 05ab94aa88c8bb36bff541408dc2d23e625f475800c4037aa9027beb57783c1d \ir install/apply.sql
\set file functions/agent/report_progress.sql \set sha256 6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b \ir install/apply.sql
\set file functions/agent/report_usage.sql \set sha256 4bfc997063fc8db92e1c44fd23905e56724964c219739f6640a91f0f06dbbc7c \ir install/apply.sql

-- functions/operator
\set file functions/operator/cancel.sql \set sha256 b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373 \ir install/apply.sql
\set file functions/operator/open_installation.sql \set sha256 d1d5450c25960cb8cc11f3bb13b2da914f6e292d55e47fa1e727dadd18fc9b4e \ir install/apply.sql
\set file functions/operator/pause_agent.sql \set sha256 4054a24a892e494ac03b4b3ae9006bb426c81a456bf544562e3bee687394bddd \ir install/apply.sql
\set file functions/operator/register_agent.sql \set sha256 e8d1aa0a9aadfa39d5d7fdd888244b1a7db0a36d75cd41e75af36aead984b99e \ir install/apply.sql
\set file functions/operator/reprioritize.sql \set sha256 c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921 \ir install/apply.sql
\set file functions/operator/reprocess.sql \set sha256 20d34a9fabbcf72533c134d924e9ac9de0d1fd78928366a0b0a5915f8db4f8f1 \ir install/apply.sql
\set file functions/operator/resume_agent.sql \set sha256 232b0349e69192e7124df03b8b6ff4998f8ad19fc46488c70bfedd8ce8cfacb7 \ir install/apply.sql
\set file functions/operator/retry.sql \set sha256 c26f542f819b28dc1af1549b2c504b076d9495d3ccf82c627cdbf2a027945c52 \ir install/apply.sql

-- functions/viewer
\set file functions/viewer/agent_status.sql \set sha256 49209390084e7640438a102c867cb5553d288359577ed977d3f34f3e1136c3ac \ir install/apply.sql
\set file functions/viewer/batch_progress.sql \set sha256 11cf33c25ab77eaf5520703aabdce002ded4782b6233a47881f3460f83ac226e \ir install/apply.sql
\set file functions/viewer/explain_task.sql \set sha256 35df128eda72e67713e36dfb6ec4d93ce61503c1bab88b693a0274f06924e3eb \ir install/apply.sql
\set file functions/viewer/health.sql \set sha256 a37efa07f37cece695c5ffbf9f589c2a2fd924fd317bdffd1f789a5dbe1ea8a2 \ir install/apply.sql
\set file functions/viewer/list_tasks.sql \set sha256 b8ec49b728031463727d79ec08e6b8efe30ff6c0820627ff5e71d1b28e23d214 \ir install/apply.sql
\set file functions/viewer/schema_version.sql \set sha256 f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4 \ir install/apply.sql
\set file functions/viewer/server_time.sql \set sha256 0f5e4990a8b04d9c7f4865c6c6617474d0f70ae3750d91abb4cbfdbc808c21bf \ir install/apply.sql
\set file functions/viewer/task_counts.sql \set sha256 69c0a76df134284a146f56d3da4aab74be770f7f721f456dca0639316ed84de9 \ir install/apply.sql
\set file functions/viewer/task_detail.sql \set sha256 e63185990f820a264a83e2cb06df15299c8fc7d99af62b5b82a4e70c251380a1 \ir install/apply.sql

-- functions/reader
\set file functions/reader/task_result.sql \set sha256 c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f \ir install/apply.sql

-- triggers
\set file triggers/agents.sql \set sha256 f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91 \ir install/apply.sql
\set file triggers/tasks.sql \set sha256 b51f2c870e7943746dc863230dbb2f5a7021b08f72afddeac5649eb4b9943638 \ir install/apply.sql
\set file triggers/wakeups.sql \set sha256 f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07 \ir install/apply.sql

-- grants.sql
\set file grants.sql \set sha256 1b6a45dc49a3dfcaba803481c4b8477d66928c9ef941a86a314c5de269f8d0c5 \ir install/apply.sql

\ir install/finish.sql
